/** A word of the definition language that can be offered at some place. */
export interface Word {
  readonly text: string;
  readonly info?: string;
  /** True if the word is written without quotes, such as `null`, `true` or a number. */
  readonly isBare?: boolean;
}
