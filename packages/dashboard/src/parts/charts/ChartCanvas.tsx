import { useEffect, useLayoutEffect, useRef } from "react";
import UPlot, { type AlignedData, type Options, type Series as PlotSeries } from "uplot";
import "uplot/dist/uPlot.min.css";
import { locale } from "../../texts/texts.ts";
import type { ChartProps } from "./chart-props.ts";

interface ChartCanvasProps extends ChartProps {
  /** Called with the index of the bucket under the pointer. */
  readonly onPoint: (index: number | undefined) => void;
}

const height = 150;
/** The scale goes up to at least this value, even if there is nothing to show. */
const leastTop = 1;

/** The drawing itself. For a new theme it is made again; for new values and a new width it is only changed. */
export function ChartCanvas(props: ChartCanvasProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const latest = useRef(props);
  latest.current = props;

  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const made = new UPlot(optionsOf(latest.current, element, latest), dataOf(latest.current), element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, []);

  useEffect(() => {
    plot.current?.setData(dataOf(props));
  }, [props]);

  return <div ref={place} aria-hidden="true" />;
}

/** The bars are stacked. Each is drawn with its height added to that of all bars below it, and the lowest is drawn last, over the others. */
function dataOf({ kind, times, series }: ChartProps): AlignedData {
  const values = series.map((one) => [...one.values]);
  if (kind === "bars") {
    for (let index = values.length - 2; index >= 0; index -= 1) {
      const below = values[index + 1];
      values[index] = (values[index] ?? []).map((value, at) => (value ?? 0) + (below?.[at] ?? 0));
    }
  }
  return [[...times], ...values] as AlignedData;
}

function optionsOf(
  { kind, series, format }: ChartProps,
  element: HTMLElement,
  latest: { readonly current: ChartCanvasProps },
): Options {
  const colourOf = colourReader(element);
  const axis = { stroke: colourOf("--ink-soft"), font: `11px ${getComputedStyle(element).fontFamily}` };
  const grid = { stroke: colourOf("--line"), width: 1 };
  const drawn = series.map(({ label, colour }): PlotSeries => {
    const stroke = colourOf(colour);
    if (kind === "lines") return { label, stroke, width: 2, spanGaps: true, points: { size: 5, fill: stroke } };
    return { label, fill: stroke, width: 0, points: { show: false }, ...(bars !== undefined && { paths: bars }) };
  });
  return {
    width: element.clientWidth,
    height,
    // Each text on the time axis is centred below its mark. The space on the right is for the half of the last text that goes beyond the drawing.
    padding: [8, 18, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === "lines" } },
    series: [{}, ...drawn],
    scales: { x: { range: aroundBuckets }, y: { range: (_plot, _min, max) => [0, Math.max(max * 1.1, leastTop)] } },
    axes: [
      { ...axis, grid: { show: false }, ticks: { show: false }, size: 26, space: 64, values: hours },
      {
        ...axis,
        grid,
        ticks: { show: false },
        size: 64,
        incrs: kind === "bars" ? wholeSteps : timeSteps,
        values: (_plot, ticks) => ticks.map((value) => (value === 0 ? "0" : format(value))),
      },
    ],
    hooks: { setCursor: [({ cursor }) => latest.current.onPoint(cursor.idx ?? undefined)] },
  };
}

const wholeSteps = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();
/** The distances that marks on an axis of durations may have, in seconds. They are round on a clock: 2 or 5 minutes, but not 200 seconds. */
const timeSteps = [
  ...[0.001, 0.01, 0.1].flatMap((power) => [power, 2 * power, 5 * power]),
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60),
  ...[1, 2, 3, 6, 12].map((hours) => hours * 3_600),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((days) => days * 86_400),
];
const hourFormat = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });

/** The time axis is longer by half a bucket at each end, for the first and the last bar. */
function aroundBuckets({ data: [times = []] }: UPlot, min: number, max: number): [number, number] {
  const [first = 0, second = first + 3_600] = times;
  const half = (second - first) / 2;
  return [min - half, max + half];
}

function hours(_plot: UPlot, ticks: number[]): string[] {
  return ticks.map((seconds) => hourFormat.format(seconds * 1_000));
}

const bars = UPlot.paths.bars?.({ size: [0.75, 40], align: 0 });

/** A canvas cannot read the variables of the theme, but other elements can. So an element that is added for a moment reads them. */
function colourReader(element: HTMLElement): (variable: string) => string {
  return (variable) => {
    const probe = document.createElement("span");
    probe.style.color = `var(${variable})`;
    element.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}
