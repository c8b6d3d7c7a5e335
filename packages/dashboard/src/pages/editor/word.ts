/** A word of the definition language that can be offered at some place. */
export interface Word {
  readonly text: string;
  readonly info?: string;
  /** True if it is written without quotes: null, true, false. */
  readonly isBare?: boolean;
}
