/** Names as programs know them, one below the other. */
export function Codes({ values }: { readonly values: readonly string[] }) {
  return (
    <ul>
      {values.map((value) => (
        <li key={value}>
          <code>{value}</code>
        </li>
      ))}
    </ul>
  );
}
