import { Button } from "../../../parts/controls/Button.tsx";
import type { IconName } from "../../../parts/layout/Icon.tsx";
import { texts } from "../../../texts/texts.ts";
import type { TimeWindow } from "./timeline-ticks.ts";
import { moved, windowAround, zoomed } from "./timeline-window.ts";

interface TimelineButtonsProps {
  readonly window: TimeWindow;
  /** The time from the job's submission until its end, or until now. */
  readonly wholeMs: number;
  /** The time of the selected step. */
  readonly step: TimeWindow | undefined;
  /** Called with undefined for the whole time of the job. */
  readonly onChange: (window: TimeWindow | undefined) => void;
}

/** The buttons that choose the part of the job's time that is shown. */
export function TimelineButtons({ window, wholeMs, step, onChange }: TimelineButtonsProps) {
  const words = texts.job.timelineButtons;
  const isWhole = window.to - window.from >= wholeMs;
  const middle = step === undefined ? Number.NaN : (step.from + step.to) / 2;
  const button = (icon: IconName, text: string, isDisabled: boolean, next: () => TimeWindow | undefined) => (
    <Button icon={icon} title={text} aria-label={text} disabled={isDisabled} onClick={() => onChange(next())} />
  );
  return (
    <div className="row">
      {button("left", words.earlier, window.from <= 0, () => moved(window, -0.5, wholeMs))}
      {button("right", words.later, window.to >= wholeMs, () => moved(window, 0.5, wholeMs))}
      {button("plus", words.zoomIn, false, () => zoomed(window, 2, middle, wholeMs))}
      {button("minus", words.zoomOut, isWhole, () => zoomed(window, 0.5, middle, wholeMs))}
      {step !== undefined && button("target", words.step, false, () => windowAround(step, wholeMs))}
      {button("fit", words.whole, isWhole, () => undefined)}
    </div>
  );
}
