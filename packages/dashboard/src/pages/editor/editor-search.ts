/** The search part of the address of the editor: the version from which to begin. */
export interface EditorSearch {
  readonly versionId?: string;
}

export function parseEditorSearch({ versionId }: Record<string, unknown>): EditorSearch {
  return typeof versionId === "string" && versionId !== "" ? { versionId } : {};
}
