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
  /** The time at which each bucket begins, in seconds since 1970. */
  readonly times: readonly number[];
  /** The text in the drawing when there is nothing to draw. */
  readonly none?: string | undefined;
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly formatTime: (seconds: number) => string;
}
