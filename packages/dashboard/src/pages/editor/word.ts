/** A word of the definition language that may stand somewhere. */
export interface Word {
  readonly text: string;
  readonly info?: string;
  /** Written as it is, without quotes: null, true, false. */
  readonly isBare?: boolean;
}
