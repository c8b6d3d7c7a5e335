import { lazy, useState } from "react";
import { texts } from "../../texts/texts.ts";
import { useIsDark } from "../../theme/use-theme.ts";
import "./Chart.css";
import { OnDemand } from "../states/OnDemand.tsx";
import type { ChartProps } from "./chart-props.ts";

const Canvas = lazy(() => import("./ChartCanvas.tsx").then(({ ChartCanvas }) => ({ default: ChartCanvas })));

/** Values over time. The value under the pointer is written above the drawing, and all values are in a table below it. */
export function Chart(props: ChartProps) {
  const { label, series, times, none, format, formatTime } = props;
  const [index, setIndex] = useState<number | undefined>();
  const isDark = useIsDark();
  const time = index === undefined ? undefined : times[index];
  return (
    <figure className="chart" aria-label={label}>
      <p className="chart-legend">
        {series.map(({ label: name, colour, values }) => {
          const value = index === undefined ? undefined : values[index];
          return (
            <span key={name} className="chart-key">
              <span className="chart-marker" style={{ background: `var(${colour})` }} aria-hidden="true" />
              {name}
              {typeof value === "number" && <strong>{format(value)}</strong>}
            </span>
          );
        })}
        {time !== undefined && <span className="soft">{formatTime(time)}</span>}
      </p>
      <div className="chart-place">
        <OnDemand instead={<p className="soft">{texts.charts.notDrawn}</p>}>
          <Canvas key={isDark ? "dark" : "light"} {...props} onPoint={setIndex} />
        </OnDemand>
        {none !== undefined && <p className="chart-none soft">{none}</p>}
      </div>
      <details>
        <summary>{texts.parts.asTable}</summary>
        <ChartTable {...props} />
      </details>
    </figure>
  );
}

function ChartTable({ label, times, series, format, formatTime }: ChartProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <div className="chart-table" tabIndex={0}>
      <table>
        <caption className="visually-hidden">{label}</caption>
        <thead>
          <tr>
            <th scope="col">{texts.parts.time}</th>
            {series.map((one) => (
              <th key={one.label} scope="col">
                {one.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((time, index) => (
            <tr key={time}>
              <th scope="row">{formatTime(time)}</th>
              {series.map(({ label: name, values }) => (
                <td key={name}>{formatOrNothing(values[index], format)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function formatOrNothing(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? texts.parts.noTime : format(value);
}
