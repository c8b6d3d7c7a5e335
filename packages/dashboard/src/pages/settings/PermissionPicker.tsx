import { useQuery } from "@tanstack/react-query";
import { ownPermissionsQuery } from "../../api/permissions.ts";
import type { GrantablePermission } from "../../document.ts";
import { CheckBox } from "../../parts/controls/CheckBox.tsx";
import { texts } from "../../texts/texts.ts";
import "./PermissionPicker.css";

interface PermissionPickerProps {
  readonly organizationId: string;
  readonly value: readonly GrantablePermission[];
  readonly onChange: (value: GrantablePermission[]) => void;
  readonly problem?: string | undefined;
}

type Group = keyof typeof texts.permissionGroups;

const permissions = Object.keys(texts.permissions) as GrantablePermission[];
const groups = Object.keys(texts.permissionGroups) as Group[];

/** Check boxes for the permissions that the reader holds and can therefore grant, grouped by kind. */
export function PermissionPicker({ organizationId, value, onChange, problem }: PermissionPickerProps) {
  const { data } = useQuery(ownPermissionsQuery(organizationId));
  const held = permissions.filter((permission) => data?.permissions.includes(permission));
  const words = texts.picker;
  const choose = (chosen: readonly GrantablePermission[], isOn: boolean) =>
    onChange(permissions.filter((one) => (chosen.includes(one) ? isOn : value.includes(one))));
  return (
    <fieldset className="permission-picker">
      <legend>
        {words.legend} <span className="soft">{words.chosen(value.length)}</span>
      </legend>
      {held.length < permissions.length && <p className="field-hint">{words.onlyHeld}</p>}
      {problem !== undefined && (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
      <div className="permission-groups">
        {groups.map((group) => {
          const offered = held.filter((permission) => permission.startsWith(`${group}:`));
          return <PermissionGroup key={group} title={texts.permissionGroups[group]} {...{ offered, value, choose }} />;
        })}
      </div>
    </fieldset>
  );
}

interface PermissionGroupProps {
  readonly title: string;
  readonly offered: readonly GrantablePermission[];
  readonly value: readonly GrantablePermission[];
  readonly choose: (chosen: readonly GrantablePermission[], isOn: boolean) => void;
}

function PermissionGroup({ title, offered, value, choose }: PermissionGroupProps) {
  if (offered.length === 0) return null;
  return (
    <fieldset className="permission-group">
      <legend>{title}</legend>
      {offered.length > 1 && (
        <CheckBox
          label={texts.picker.all(title)}
          checked={offered.every((one) => value.includes(one))}
          onChange={(event) => choose(offered, event.target.checked)}
        />
      )}
      {offered.map((permission) => (
        <CheckBox
          key={permission}
          label={<code>{permission}</code>}
          hint={texts.permissions[permission]}
          checked={value.includes(permission)}
          onChange={(event) => choose([permission], event.target.checked)}
        />
      ))}
    </fieldset>
  );
}
