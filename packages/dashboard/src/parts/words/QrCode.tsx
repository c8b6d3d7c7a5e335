import { lazy } from "react";
import "./QrCode.css";
import { OnDemand } from "../states/OnDemand.tsx";

interface QrCodeProps {
  readonly text: string;
  /** The name of the code, for readers who do not see it. */
  readonly label: string;
}

/** The program that draws the pattern is loaded when it is first needed. */
const Drawing = lazy(() => import("./QrDrawing.tsx").then(({ QrDrawing }) => ({ default: QrDrawing })));

/** To be scanned by a telephone. Beside it stands the same in words, for whoever cannot. */
export function QrCode(props: QrCodeProps) {
  return (
    <div className="qr-code">
      <OnDemand>
        <Drawing {...props} />
      </OnDemand>
    </div>
  );
}
