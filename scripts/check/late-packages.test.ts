import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const statement = /^(?:import|export)(?! type)[^'"]*? from '([^']+)'|^import '([^']+)'/gm

/** Packages and modules of Node that the static imports of a file reach, each with one importer. */
const reached = (file: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  const files = new Set([file])
  for (const each of files)
    for (const [, from, bare] of readFileSync(each, 'utf8').matchAll(statement)) {
      const name = from ?? bare ?? ''
      if (name.startsWith('.')) files.add(join(dirname(each), name))
      else if (name.startsWith('@trunkline/')) files.add(createRequire(each).resolve(name))
      else if (!found.has(name)) found.set(name, each)
    }
  return found
}

/** Packages that are loaded with their first use: they cost a start much, and few gateways need them. */
const late = [
  'undici',
  'jose',
  'pino-pretty',
  'csv-stringify/sync',
  'fast-xml-parser',
  'fast-json-stringify',
  'oidc-provider',
  'pg',
  'selfsigned',
  'libopus-wasm',
  'mpg123-decoder',
  'wasm-media-encoders',
  '@scalar/fastify-api-reference',
  // As an ES module it also loads Node's own undici; process.getBuiltinModule does not.
  'node:http',
  'node:http2',
]

it('loads no package at the start that few gateways need', () => {
  const packages = reached(join(root, 'gateway', 'cli', 'run-command.ts'))
  expect(packages.has('fastify')).toBe(true)
  expect(late.filter((name) => packages.has(name)).map((name) => `${name}: ${packages.get(name)}`)).toEqual(
    [],
  )
})

it('loads no package with the thread of the SIP agent that few gateways need', () => {
  const packages = reached(join(root, 'sip-agent', 'agent.worker.ts'))
  expect(late.filter((name) => packages.has(name)).map((name) => `${name}: ${packages.get(name)}`)).toEqual(
    [],
  )
})
