// What job.ts uses of Node, whose types are a package of their own.
declare const process: { env: Record<string, string | undefined> };

declare module "node:fs" {
  export function openAsBlob(path: string): Promise<Blob>;
}
