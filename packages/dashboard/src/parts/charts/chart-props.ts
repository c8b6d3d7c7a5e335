export interface Series {
  readonly label: string;
  /** The name of a variable of the theme. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  /** The chart's name, for people who use a screen reader. */
  readonly label: string;
  readonly kind: "bars" | "lines";
  /** Seconds since 1970: where each bucket begins. */
  readonly times: readonly number[];
  /** Stands in the drawing when there is nothing to draw. */
  readonly none?: string | undefined;
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly formatTime: (seconds: number) => string;
}
