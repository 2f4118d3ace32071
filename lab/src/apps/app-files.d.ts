/** Written into the payload by `build/build-app.ts`: the files of the app's `page` and `data` folders. */
declare module 'app:files' {
  /** Base64 by path, such as `page/index.html`. */
  export const FILES: Readonly<Record<string, string>>;
}
