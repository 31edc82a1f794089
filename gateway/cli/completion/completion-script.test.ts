import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commands } from '../command-table.ts'
import { completionScript } from './completion-script.ts'

const shells = ['bash', 'zsh', 'fish'] as const
const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-completion-'))
  for (const shell of shells) writeFileSync(join(folder, shell), completionScript(shell, commands))
  mkdirSync(join(folder, 'sub'))
  writeFileSync(join(folder, 'my file.yaml'), '')
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Command lines with the words that every shell offers for the last one. */
const lines: readonly (readonly [line: string, words: readonly string[]])[] = [
  ['che', ['check']],
  ['r', ['refusals', 'reload', 'restore', 'route-test', 'run']],
  ['--v', ['--version']],
  ['reload --d', ['--dry-run']],
  ['route-test --transport t', ['tcp', 'tls']],
  ['route-test --source ', []],
  ['completion ', ['bash', 'fish', 'zsh']],
  ['help comp', ['completion']],
  ['check my', ['my file.yaml']],
  ['push-keys my', []],
]

const sorted = (words: readonly string[]): readonly string[] => words.filter((word) => word !== '').toSorted()

describe('bash', () => {
  const complete = (line: string): readonly string[] => {
    const script = `source ./bash; COMP_WORDS=(trunkline ${line.endsWith(' ') ? `${line}''` : line})
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _trunkline; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { cwd: folder, encoding: 'utf8' })
    expect(stderr).toBe('')
    return sorted(stdout.split('\n'))
  }

  it.each(lines)('offers for `trunkline %s` %j', (line, words) => expect(complete(line)).toEqual(words))

  it('takes the value of an option for no argument', () => {
    expect(complete('route-test --source 192.0.2.1 sip:x my')).toEqual(['my file.yaml'])
    expect(complete('route-test --source 192.0.2.1 my')).toEqual([])
  })

  it('completes at the tabulator key of a terminal', () => {
    const keys = 'source ./bash; trunkline() { echo "<$*>"; }\ntrunkline che\tmy\t\nexit\n'
    const typed = spawnSync('script', ['-qec', 'bash --norc --noprofile -i', '/dev/null'], {
      cwd: folder,
      input: keys,
      encoding: 'utf8',
      timeout: 20_000,
    })
    expect(typed.stdout).toContain('<check my file.yaml>')
  })
})

describe('fish', () => {
  it.runIf(has('fish')).each(lines)('offers for `trunkline %s` %j', (line, words) => {
    const { stdout } = spawnSync('fish', ['-c', `source ./fish; complete -C 'trunkline ${line}'`], {
      cwd: folder,
      encoding: 'utf8',
    })
    const offered = stdout.split('\n').map((each) => each.split('\t')[0]?.replaceAll('\\', '') ?? '')
    expect(sorted(offered)).toEqual(words)
  })

  it('has a script whose lines are each one command, for machines without fish', () => {
    const script = completionScript('fish', commands)
    for (const line of script.trim().split('\n').slice(1))
      expect(line).toMatch(/^complete -c trunkline(?: -[a-zA-Z]| '(?:[^'\\]|\\.)*'| [\w-]+)+$/)
    for (const { name } of commands) expect(script).toContain(` -a ${name} -d `)
  })
})

describe('zsh', () => {
  it.runIf(has('zsh'))('completes at the tabulator key of a terminal', () => {
    const start = `autoload -Uz compinit; compinit -u -d ${join(folder, 'dump')}; source ./zsh; trunkline() { echo "<$*>" }`
    const keys = `${start}\ntrunkline che\tmy\t\ntrunkline route-test --tra\ttl\t\nexit\n`
    const typed = spawnSync('script', ['-qec', 'zsh -f -i', '/dev/null'], {
      cwd: folder,
      input: keys,
      encoding: 'utf8',
      timeout: 20_000,
    })
    expect(typed.stdout).toContain('<check my file.yaml>')
    expect(typed.stdout).toContain('<route-test --transport tls>')
  })

  it('has a script that describes every command, for machines without zsh', () => {
    const script = completionScript('zsh', commands)
    for (const { name, summary } of commands) {
      expect(script).toContain(`    '${`${name}:${summary}`.replaceAll("'", "'\\''")}'\n`)
      expect(script).toMatch(new RegExp(`^        ${name}\\) _arguments (?:'(?:[^']|'\\\\'')*' ?)+;;$`, 'm'))
    }
  })
})
