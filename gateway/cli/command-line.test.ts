import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ReloadSignal } from '../app/shutdown.ts'
import { runCommand } from './command-line.ts'

let folder: string
let file: string
let printed: { out: string; err: string }

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-cli-'))
  file = join(folder, 'trunkline.yaml')
  writeFileSync(
    file,
    'domains:\n  - { domain: demo.example, allow: [192.0.2.0/24], handler: { kind: xml, url: "https://app.example" } }\n',
  )
  printed = { out: '', err: '' }
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.out += String(text)
    return true
  })
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed.err += String(text)
    return true
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

const run = (...args: string[]) => runCommand(new ReloadSignal(), args)

describe('wrong arguments', () => {
  it.each([
    [[], 'Usage: trunkline'],
    [['stop'], "unknown command 'stop'"],
    [['check', '--json'], "unknown option '--json'"],
    [['check', 'a.yaml', 'b.yaml'], 'too many arguments'],
    [['token'], "missing required argument 'subscriber'"],
    [['route-test', '--source', '::1'], "missing required argument 'request-uri'"],
    [['route-test', 'sip:a@b'], "required option '--source <address>' not specified"],
    [['route-test', '--source', 'gw.example', 'sip:a@b'], 'must be an IP address'],
    [['route-test', '--source', '::1', '--transport', 'sctp', 'sip:a@b'], 'must be one of udp, tcp'],
  ])('%j end with 2 and a reason', async (args, reason) => {
    expect(await run(...args)).toBe(2)
    expect(printed.err).toContain(reason)
    expect(printed.out).toBe('')
  })
})

it('--help prints every command', async () => {
  expect(await run('--help')).toBe(0)
  for (const name of ['run', 'reload', 'check', 'route-test', 'migrate', 'token', 'signing-key', 'push-keys'])
    expect(printed.out).toMatch(new RegExp(`^  ${name} `, 'm'))
})

it.each([['check'], ['migrate'], ['token', 'ann@x.example'], ['signing-key'], ['run']])(
  '%s of a configuration with faults prints them and ends with 2',
  async (...command) => {
    writeFileSync(file, 'domains: nothing\n')
    expect(await run(...command, file)).toBe(2)
    expect(printed.err).toContain('trunkline.yaml:1:1 domains: ')
  },
)

describe('route-test', () => {
  const routeTest = (source: string, ...more: string[]) =>
    run('route-test', '--source', source, ...more, 'sip:1@demo.example', file)

  it('ends with 0 if the call would be admitted', async () => {
    expect(await routeTest('192.0.2.1', '--transport', 'TCP', '--method', 'invite')).toBe(0)
    expect(printed.out).toMatch(/^INVITE sip:1@demo.example from 192.0.2.1 over tcp$/m)
  })

  it('ends with 1 if the call would be refused, and prints the report as JSON', async () => {
    expect(await routeTest('203.0.113.1', '--json')).toBe(1)
    expect(JSON.parse(printed.out)).toMatchObject({
      admitted: false,
      status: 403,
      code: 'source_not_allowed',
    })
  })
})
