import type { Role } from "../../../api/roles.ts";
import { Dialog } from "../../../parts/dialogs/Dialog.tsx";
import { texts } from "../../../texts/texts.ts";

const words: Readonly<Record<string, string>> = texts.permissions;

/** The permissions of a role. */
export function ShownRole({ role, onClose }: { readonly role: Role; readonly onClose: () => void }) {
  return (
    <Dialog isOpen onClose={onClose} title={role.name} description={role.description}>
      <ul>
        {role.permissions.map((permission) => (
          <li key={permission}>
            <code>{permission}</code>: {words[permission]}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
