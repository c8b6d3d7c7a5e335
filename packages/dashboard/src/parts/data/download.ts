/** Lets the browser save a file. A link to the service would not work, because a browser that follows a link sends no token. */
export function download(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser needs the address until it has begun to read the file, which does not take a minute.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
