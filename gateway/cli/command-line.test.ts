import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { ReloadSignal } from '../app/shutdown.ts'
import { argumentName, optionName } from './command.ts'
import { runCommand } from './command-line.ts'
import { commands } from './command-table.ts'

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
    [['stop'], "trunkline: unknown command 'stop'\n"],
    [['chekc'], "unknown command 'chekc'; did you mean 'check'?\n"],
    [['chekc', '--help'], "unknown command 'chekc'; did you mean 'check'?\n"],
    [['help', 'chekc'], "unknown command 'chekc'; did you mean 'check'?\n"],
    [['completion', 'bash', '--json'], "unknown option '--json'"],
    [['reload', '--dry-rnu'], "unknown option '--dry-rnu'; did you mean '--dry-run'?"],
    [['reload', '--dry-rnu'], 'Run `trunkline reload --help`'],
    [['check', 'a.yaml', 'b.yaml'], 'too many arguments'],
    [['token'], "missing required argument 'subscriber'"],
    [['route-test', '--source', '::1'], "missing required argument 'request-uri'"],
    [['route-test', 'sip:a@b'], "required option '--source <address>' not specified"],
    [['route-test', '--source', 'gw.example', 'sip:a@b'], 'must be an IP address'],
    [
      ['route-test', '--source', '::1', '--transport', 'sctp', 'sip:a@b'],
      "option '--transport' must be one of udp, tcp, tls, ws, wss, not 'sctp'\n",
    ],
    [['completion', 'tcsh'], "argument 'shell' must be one of bash, zsh, fish, not 'tcsh'\n"],
    [
      ['drain', '--timeout', 'a\nb'],
      "option '--timeout' must be a duration such as 30s, 5m or 4h, not 'a\nb'\n",
    ],
  ])('%j end with 2 and a reason', async (args, reason) => {
    expect(await run(...args)).toBe(2)
    expect(printed.err).toContain(reason)
    expect(printed.out).toBe('')
  })
})

describe('help', () => {
  it.each([[['--help']], [['help']]])('%j prints every command', async (args) => {
    expect(await run(...args)).toBe(0)
    for (const { name, summary } of commands)
      expect(printed.out).toMatch(new RegExp(`^  ${name} +${summary}$`, 'm'))
  })

  it.each(commands.map(({ name }) => name))(
    'of %s has examples that it accepts, and exit codes',
    async (name) => {
      expect(await run(name, '--help')).toBe(0)
      const byOption = printed.out
      expect(byOption).toContain(`Usage: trunkline ${name} `)
      const { examples, exitCodes, options, arguments: names } = commands.find((each) => each.name === name)!
      for (const { line } of examples) expect(byOption).toContain(`  trunkline ${line}\n`)
      for (const [code, meaning] of Object.entries(exitCodes))
        expect(byOption).toContain(`  ${code}  ${meaning}`)
      for (const key of Object.keys(options)) expect(byOption).toContain(`  ${optionName(key)}`)
      for (const key of Object.keys(names))
        expect(byOption).toMatch(new RegExp(`^  ${argumentName(key)} `, 'm'))
      printed.out = ''
      expect(await run('help', name)).toBe(0)
      expect(printed.out).toBe(byOption)
    },
  )

  it('loads nothing but the descriptions of the commands', () => {
    const main = join(import.meta.dirname, '..', 'main.ts')
    const loader = join(import.meta.dirname, 'testing', 'print-modules.ts')
    for (const args of [['--help'], ['--version'], ['route-test', '--help'], ['chekc']]) {
      const { stderr } = spawnSync(process.execPath, ['--import', loader, main, ...args], {
        encoding: 'utf8',
      })
      const loaded = stderr.split('\n').flatMap((line) => /^loaded (.*)$/.exec(line)?.[1] ?? [])
      expect(loaded.length).toBeGreaterThan(10)
      const others = loaded.filter(
        (url) => !/\/gateway\/(main|app\/shutdown|core\/version|cli\/.*)\.ts$|\/commander\//.test(url),
      )
      expect(others).toEqual([])
      expect(loaded.filter((url) => url.endsWith('-command.ts'))).toEqual([])
    }
  })
})

it.each(commands.map(({ name }) => name))('the examples of %s are valid', async (name) => {
  const command = commands.find((each) => each.name === name)!
  expect(command.examples.length).toBeGreaterThan(0)
  for (const { line } of command.examples) {
    const words = line.replace(/ [|<>].*/, '').split(' ')
    expect(words[0]).toBe(name)
    const ran = vi.spyOn(command, 'run').mockResolvedValue(7)
    expect(await run(...words)).toBe(7)
    ran.mockRestore()
  }
})

it('an option whose name begins with no- is a switch like others', async () => {
  expect(await run('print-config', file)).toBe(0)
  expect(printed.out).toContain('# default\n')
  printed.out = ''
  expect(await run('print-config', '--no-defaults', file)).toBe(0)
  expect(printed.out).toMatch(/# file\n$/)
  expect(printed.out).not.toContain('# default\n')
})

it('prints the version of package.json', async () => {
  expect(await run('--version')).toBe(0)
  expect(printed.out).toBe(`${packageJson.version}\n`)
  printed.out = ''
  expect(await run('version', '--json')).toBe(0)
  expect(JSON.parse(printed.out)).toMatchObject({ version: packageJson.version, node: process.versions.node })
})

it.each([['check'], ['migrate'], ['token', 'ann@x.example'], ['signing-key'], ['run']])(
  '%s of a configuration with faults prints them and ends with 2',
  async (...command) => {
    writeFileSync(file, 'domains: nothing\n')
    expect(await run(...command, file)).toBe(2)
    expect(printed.err).toMatch(/trunkline\.yaml:1:10\b/)
    expect(printed.err).toContain('domains: must be a list')
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
