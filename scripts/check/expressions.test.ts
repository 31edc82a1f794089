import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { check } from 'recheck'
import checker from 'recheck/package.json' with { type: 'json' }
import { afterAll, describe, expect, it } from 'vitest'
import { sharedFolder } from '../worker-build/cache.ts'
import { Expressions, ProvenForms } from './expressions.ts'

const root = dirname(dirname(import.meta.dirname))

/** Parts of the product. */
const parts = [
  'gateway',
  'sip-agent',
  'handlers',
  'media',
  'config',
  'client',
  'realtime',
  'console',
  'react',
]

/** Every product file, without tests, their helpers and declarations. */
const files = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .stdout.split('\n')
  .filter((path) => parts.includes(path.split('/')[0]!) && /\.tsx?$/.test(path))
  .filter((path) => !/\.(test|d)\.tsx?$|\/testing|test-|rig\.ts$/.test(path) && existsSync(join(root, path)))

const proven = new ProvenForms(join(sharedFolder('expressions'), 'linear.json'), checker.version)
const reader = new Expressions(root)
const found = files.flatMap((path) => reader.in(path))

/** Expressions built from parameters of a function, with the sources that callers give. */
const built: Readonly<Record<string, readonly string[]>> = {
  // Names of parameters, which are constants.
  'gateway/agents/models/chat-completions.ts': ['(?<![a-z_])max_completion_tokens(?![a-z_])'],
  // Patterns that customers write for their own tests, and run on their own machine.
  'gateway/stand-ins/read-script.ts': [],
  // Routes of the gateway, which the server lists for its documentation.
  'gateway/http/requests/route-list.ts': [],
  // Patterns of the script language: each caller's pattern, or a placeholder.
  'handlers/script/schema-builders.ts': [],
  // Patterns of attributes: each caller's is a constant.
  'handlers/xml/element-reader.ts': [],
  // A fingerprint's digest has 20 to 64 bytes.
  'media/webrtc/sdp/read-sdp.ts': ['^[0-9A-F]{2}(:[0-9A-F]{2}){63}$'],
  'client/src/sent-media.ts': [],
}

/**
 * Returns the forms of an expression that have to be linear. A sticky expression is anchored.
 * A global expression is applied again after each match, and at the next character if it does not match.
 * One match of the second form does the same work.
 */
const formsOf = (source: string, flags: string): readonly string[] => {
  if (flags.includes('y')) return [`^(?:${source})`]
  return flags.includes('g') ? [source, `^(?:(?:${source})|[\\s\\S])*`] : [source]
}

const engineFlags = (flags: string): string => flags.replace(/[gydv]/g, '')

const faultOf = async (source: string, flags: string): Promise<string | undefined> => {
  for (const form of formsOf(source, flags)) {
    if (proven.has(form, engineFlags(flags))) continue
    const result = await check(form, engineFlags(flags), { timeout: 60_000 })
    if (result.status === 'vulnerable') return `${result.complexity.summary}: ${result.attack.pattern}`
    if (result.status === 'unknown') return `not decided: ${result.error.kind}`
    proven.add(form, engineFlags(flags))
  }
  return undefined
}

describe('regular expressions', () => {
  it('are found as literals, constructor calls and patterns of schemas', () => {
    expect(found.length).toBeGreaterThan(450)
    const sources = found.map(({ source }) => source)
    expect(sources).toContain('^[0-9]{1,6}$')
  })

  it('are computed from constants, except for those listed in this file', () => {
    const unknown = found.filter(({ source }) => source === undefined).map(({ place }) => place.split(':')[0])
    expect([...new Set(unknown)].sort()).toEqual(Object.keys(built).sort())
  })

  it('with quadratic time are recognised', async () => {
    expect(await faultOf('"(?:[^"\\\\]|\\\\.)*"|[[\\]{}]', 'gs')).toMatch(/polynomial/)
    expect(await faultOf('(?:"(?:[^"\\\\]|\\\\.)*"|[^;"])+', 'g')).toMatch(/polynomial/)
    expect(await faultOf('[^;]+', 'g')).toBeUndefined()
  })

  afterAll(() => proven.save())

  // A test for each part, because a busy machine needs a minute for all of them.
  it.each(parts)(
    'of %s/ take linear time for every text',
    async (part) => {
      const sources = new Map<string, string>()
      for (const { place, source, flags } of found)
        if (source !== undefined && place.startsWith(`${part}/`)) sources.set(`/${source}/${flags}`, place)
      for (const [file, extra] of Object.entries(built))
        for (const source of extra) if (file.startsWith(`${part}/`)) sources.set(`/${source}/`, file)
      const faults: string[] = []
      for (const [text, place] of sources) {
        const end = text.lastIndexOf('/')
        const fault = await faultOf(text.slice(1, end), text.slice(end + 1))
        if (fault) faults.push(`${place} ${text} ${fault}`)
      }
      expect(faults).toEqual([])
    },
    120_000,
  )
})
