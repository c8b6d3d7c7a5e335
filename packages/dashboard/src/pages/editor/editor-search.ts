/** What the address of the editor says beside the workflow: from which version to begin. */
export interface EditorSearch {
  readonly versionId?: string;
}

export function parseEditorSearch({ versionId }: Record<string, unknown>): EditorSearch {
  return typeof versionId === "string" && versionId !== "" ? { versionId } : {};
}
