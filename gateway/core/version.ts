import { readFileSync } from 'node:fs'

/** Returns the version of this release, from `package.json`. */
export const releaseVersion = (): string => {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}
