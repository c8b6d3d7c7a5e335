/** Lets the browser save a file. A link to the service would not work, because it sends no token. */
export function download(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // After this time, the browser has begun to read the file.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
