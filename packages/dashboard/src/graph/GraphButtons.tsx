import { Panel, useReactFlow } from "@xyflow/react";
import { Button } from "../parts/controls/Button.tsx";
import { texts } from "../texts/texts.ts";
import { moveMs } from "./viewport.ts";

interface GraphButtonsProps {
  readonly current: string | undefined;
  readonly onShow: (id: string) => void;
}

export function GraphButtons({ current, onShow }: GraphButtonsProps) {
  const { zoomIn, zoomOut, fitView } = useReactFlow();
  const { graph } = texts;
  const duration = moveMs();
  return (
    <Panel position="top-right" className="graph-buttons">
      <Button icon="plus" title={graph.zoomIn} aria-label={graph.zoomIn} onClick={() => void zoomIn({ duration })} />
      <Button
        icon="minus"
        title={graph.zoomOut}
        aria-label={graph.zoomOut}
        onClick={() => void zoomOut({ duration })}
      />
      <Button
        icon="fit"
        title={graph.fit}
        aria-label={graph.fit}
        onClick={() => void fitView({ duration, padding: 0.05 })}
      />
      {current !== undefined && (
        <Button icon="target" title={graph.current} aria-label={graph.current} onClick={() => onShow(current)} />
      )}
    </Panel>
  );
}
