/** Returns a function that makes its value when it is called for the first time, and keeps it. */
export function once<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
