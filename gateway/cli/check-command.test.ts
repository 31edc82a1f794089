import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { checkRealtime } from '../../media/edge/realtime.ts'
import { checkConfig } from './check-command.ts'

let folder: string
let out: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-check-'))
  out = ''
  // The file has nothing to do, which is a warning.
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text
    return true
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

/** Returns the priority of media threads in the line of RTP, for the settings of `media.rtp`. */
const priority = async (rtp: object): Promise<string | undefined> => {
  const file = join(folder, 'trunkline.yaml')
  writeFileSync(file, JSON.stringify({ media: { rtp } }))
  expect(await checkConfig(file, { json: false })).toBe(0)
  return /^RTP: (?:native sockets|Node's own sockets \(.*\)), (.*)\.$/m.exec(out)?.[1]
}

describe('the line of RTP', () => {
  it('has the priority that media threads get for the user of the command', async () => {
    const found = checkRealtime(1)
    const expected = found.isRealtime ? 'real-time priority' : `normal priority (${found.reason})`
    expect(await priority({ threads: 1 })).toBe(`${expected} for this user`)
  })

  it('has the reason if media threads could take every core', async () => {
    const cores = availableParallelism()
    const reason = `fewer media threads than cores are required, not ${cores} of ${cores}`
    expect(await priority({ threads: cores })).toBe(`normal priority (${reason}) for this user`)
  })

  it('has no reason and no user if the configuration wants normal priority', async () => {
    expect(await priority({ realtime: false })).toBe('normal priority')
  })
})
