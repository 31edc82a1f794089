/**
 * The used function of the package, which has no types. Its result is validated field by field in
 * `read-sdp.ts`.
 */
declare module 'sdp-transform' {
  export function parse(sdp: string): unknown
}
