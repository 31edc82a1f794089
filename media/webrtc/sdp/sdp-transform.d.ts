/** The one function that is used of the package, which has no types. What it gives is read field by field in `read.ts`. */
declare module 'sdp-transform' {
  export function parse(sdp: string): unknown
}
