import "./TagChip.css";
import { texts } from "../../texts/texts.ts";
import { Icon } from "../layout/Icon.tsx";

interface TagChipProps {
  readonly tag: string;
  readonly versionNumber?: number;
}

export function TagChip({ tag, versionNumber }: TagChipProps) {
  return (
    <span className="tag-chip">
      <Icon name="tag" />
      {versionNumber === undefined ? tag : texts.workflows.tagAt(tag, versionNumber)}
    </span>
  );
}
