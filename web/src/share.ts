// The problem in the page's address, compressed; the part behind # is never sent to a server.

const LONGEST = 60_000; // characters; browsers and chats cut longer addresses off

export async function toHash(value: unknown): Promise<string | null> {
  const packed = await through(new TextEncoder().encode(JSON.stringify(value)), new CompressionStream("deflate-raw"));
  const hash = `#p=${base64url(packed)}`;
  return hash.length <= LONGEST ? hash : null;
}

export async function fromHash(hash: string): Promise<unknown> {
  if (!hash.startsWith("#p=")) return null;
  const packed = Uint8Array.from(atob(hash.slice(3).replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await through(packed, new DecompressionStream("deflate-raw"))));
}

async function through(bytes: Uint8Array<ArrayBuffer>, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

function base64url(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
