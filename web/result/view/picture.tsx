import { useState } from "preact/hooks";
import { Notice } from "../../ui/notice.tsx";

/** Shows a whole picture, with a checkerboard behind transparent parts. */
export function Picture({
  url,
  name,
  width = 0,
  height = 0,
}: {
  url: string;
  name: string;
  width: number | undefined;
  height: number | undefined;
}) {
  const [isUnknown, setUnknown] = useState(false);
  if (isUnknown) {
    return (
      <Notice tone="warn">This browser cannot show this format. Download it to see it elsewhere.</Notice>
    );
  }
  return (
    <div class="picture" style={width && height ? { "--wide": width, "--high": height } : {}}>
      <img src={url} alt={name} crossOrigin="anonymous" onError={() => setUnknown(true)} />
    </div>
  );
}
