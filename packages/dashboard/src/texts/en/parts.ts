import { countOf } from "../plural.ts";

export const parts = {
  copy: "Copy",
  copied: "Copied",
  copyFailed: "The browser did not let this page copy. Select the text and copy it yourself.",
  close: "Close",
  cancel: "Cancel",
  dismiss: "Dismiss",
  menuFailed: "The menu could not be loaded. Look whether the service can be reached, and try again.",
  utc: (time: string) => `${time} UTC`,
  loadingMore: "Loading more",
  loadMore: "Load more",
  allShown: (count: number) => `${countOf(count, "row", "rows")}, all shown`,
  updatedNow: "Just now",
  noTime: "–",
  time: "Time",
  asTable: "As a table",
  notLoaded: "This part of the page could not be loaded. All else here goes on without it.",
} as const;
