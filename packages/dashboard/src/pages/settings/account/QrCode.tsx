import { lazy } from "react";
import "./QrCode.css";
import { OnDemand } from "../../../parts/states/OnDemand.tsx";

interface QrCodeProps {
  readonly text: string;
  /** The name of the code, for readers who cannot see it. */
  readonly label: string;
}

/** The module that draws the pattern is loaded when it is first needed. */
const Drawing = lazy(() => import("./QrDrawing.tsx").then(({ QrDrawing }) => ({ default: QrDrawing })));

/** A code for a telephone to scan. Its content is shown as text beside it, for people who cannot scan it. */
export function QrCode(props: QrCodeProps) {
  return (
    <div className="qr-code">
      <OnDemand>
        <Drawing {...props} />
      </OnDemand>
    </div>
  );
}
