import { useQuery } from "@tanstack/react-query";
import { ownPermissionsQuery } from "../../api/permissions.ts";
import { rolesQuery } from "../../api/roles.ts";
import { CheckBox } from "../../parts/controls/CheckBox.tsx";
import { Problem } from "../../parts/states/Problem.tsx";
import { Skeleton } from "../../parts/states/Skeleton.tsx";
import { texts } from "../../texts/texts.ts";
import "./RolePicker.css";

interface RolePickerProps {
  readonly organizationId: string;
  readonly value: readonly string[];
  readonly onChange: (value: string[]) => void;
  readonly problem?: string | undefined;
}

/** Check boxes for roles. Roles with a permission that the reader lacks are shown, but cannot be given. */
export function RolePicker({ organizationId, value, onChange, problem }: RolePickerProps) {
  const { data: roles, error, refetch } = useQuery(rolesQuery(organizationId));
  const { data: own } = useQuery(ownPermissionsQuery(organizationId));
  const words = texts.members;
  if (roles === undefined) {
    return error === null ? <Skeleton rows={5} /> : <Problem error={error} onRetry={() => void refetch()} />;
  }
  return (
    <fieldset className="role-picker">
      <legend>{words.roles}</legend>
      {problem !== undefined && (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
      {roles.map(({ name, description, permissions }) => {
        const isGrantable = permissions.every((permission) => own?.permissions.includes(permission));
        return (
          <CheckBox
            key={name}
            label={name}
            hint={isGrantable ? description : words.notGrantable}
            checked={value.includes(name)}
            disabled={!isGrantable && !value.includes(name)}
            onChange={(event) =>
              onChange(event.target.checked ? [...value, name] : value.filter((one) => one !== name))
            }
          />
        );
      })}
    </fieldset>
  );
}
