import "./Problem.css";
import { asProblem } from "../../api/problem.ts";
import { texts } from "../../texts/texts.ts";
import { Button } from "../controls/Button.tsx";
import { CopyButton } from "../controls/CopyButton.tsx";
import { Icon } from "../layout/Icon.tsx";

interface ProblemProps {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
  /** True when the heading above is the title of the error. */
  readonly hasHeading?: boolean;
}

/** Says what went wrong and what to do, and shows the request's id, by which the request can be found in the logs. */
export function Problem({ error, onRetry, hasHeading = false }: ProblemProps) {
  const { title, message, requestId, errors } = asProblem(error);
  return (
    <div className="problem" role="alert">
      <Icon name="alert" />
      <div className="problem-text">
        {!hasHeading && <p className="problem-title">{title}</p>}
        <p>{message}</p>
        {errors.length > 0 && (
          <ul>
            {errors.map(({ pointer, detail }) => (
              <li key={`${pointer} ${detail}`}>
                {pointer !== "" && <code>{pointer}</code>} {detail}
              </li>
            ))}
          </ul>
        )}
        {requestId !== undefined && (
          <p className="problem-request">
            {texts.problem.request(requestId)}
            <CopyButton text={requestId} label={texts.problem.copyRequestId} isIconOnly />
          </p>
        )}
      </div>
      {onRetry !== undefined && (
        <Button icon="retry" onClick={onRetry}>
          {texts.problem.tryAgain}
        </Button>
      )}
    </div>
  );
}
