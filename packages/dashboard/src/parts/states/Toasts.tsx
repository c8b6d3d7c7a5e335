import "./Toasts.css";
import { texts } from "../../texts/texts.ts";
import { Button } from "../controls/Button.tsx";
import { Icon } from "../layout/Icon.tsx";
import { dismissToast, useToasts } from "../toasts.ts";

/** The place of toasts. It exists from the start, since a region that appears with its first message is not read out. */
export function Toasts() {
  const toasts = useToasts();
  return (
    <section className="toasts" aria-live="polite" aria-label={texts.shell.notifications}>
      {toasts.map(({ id, kind, text, action }) => (
        <div key={id} className={`toast toast-${kind}`}>
          <Icon name={kind === "success" ? "check" : "alert"} />
          <p>{text}</p>
          {action !== undefined && (
            <Button
              kind="quiet"
              onClick={() => {
                dismissToast(id);
                action.run();
              }}
            >
              {action.label}
            </Button>
          )}
          <Button kind="quiet" icon="cross" onClick={() => dismissToast(id)}>
            <span className="visually-hidden">{texts.parts.dismiss}</span>
          </Button>
        </div>
      ))}
    </section>
  );
}
