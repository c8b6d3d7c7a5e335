import "./Icon.css";

/** The icons, each on a grid of 16 by 16. An icon is always beside words, or in a button that has a label. */
const shapes = {
  home: "M2.5 7.5 8 3l5.5 4.5M4 6.5V13h8V6.5M6.5 13V9.5h3V13",
  workflow: "M3 2.5h4v3H3zM9 10.5h4v3H9zM5 5.5V12h4M5 8h3",
  job: "M4 3.2v9.6L12.5 8z",
  queue: "M3 4h10M3 8h10M3 12h6",
  settings:
    "M8 5.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4M8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M12.6 3.4l-1.1 1.1M4.5 11.5l-1.1 1.1",
  moon: "M13 9.7A5.6 5.6 0 0 1 6.3 3a5.4 5.4 0 1 0 6.7 6.7z",
  person: "M8 7.5a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2M2.8 13.8c.6-2.7 2.6-4 5.2-4s4.6 1.3 5.2 4",
  chevron: "m4.5 6.5 3.5 3.5 3.5-3.5",
  left: "m9.5 4.5-3.5 3.5 3.5 3.5",
  right: "m6.5 4.5 3.5 3.5-3.5 3.5",
  check: "m3.5 8.5 3 3 6-7",
  cross: "m4 4 8 8M12 4l-8 8",
  clock: "M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2M8 5v3.2l2.2 1.6",
  hourglass: "M4.5 2h7M4.5 14h7M5.5 2c0 3 5 3.5 5 6s-5 3-5 6M10.5 2c0 3-5 3.5-5 6s5 3 5 6",
  retry: "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v2.8h-2.8",
  stop: "M4.5 4.5h7v7h-7z",
  ban: "M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2M4 4l8 8",
  copy: "M5.5 5.5h7v7h-7zM3.5 10.5v-7h7",
  alert: "M8 2.5 14 13H2zM8 6.5v3M8 11.2v.1",
  info: "M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2M8 7.2v3.6M8 5.1v.1",
  help: "M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2M6.3 6.5a1.75 1.75 0 1 1 2.7 1.5c-.6.4-1 .7-1 1.4M8 11.4v.1",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  target: "M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M8 1.5v3M8 11.5v3M1.5 8h3M11.5 8h3",
  tag: "M2.5 8.5v-6h6l5 5-6 6zM5.5 5.4v.1",
  link: "M6.5 9.5l3-3M7 4.5l1.5-1.5a3 3 0 0 1 4.2 4.2L11.2 8.7M9 11.5 7.5 13a3 3 0 0 1-4.2-4.2L4.8 7.3",
  edit: "M3 13l.6-2.9L10.5 3.2l2.3 2.3-6.9 6.9z",
  out: "M6.5 3H3.5v10h3M10 5l3 3-3 3M12.5 8H6.5",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.3 10.3 13.5 13.5",
  filter: "M2.5 3.5h11L9.5 8.5v4l-3 1v-5z",
  send: "M2.5 8 13.5 3 10 13.5 7.5 9z",
  external: "M9.5 3H13v3.5M13 3 7.5 8.5M7 4H3v9h9V9",
} as const;

export type IconName = keyof typeof shapes;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={shapes[name]} />
    </svg>
  );
}
