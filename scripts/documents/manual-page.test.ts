import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { optionName } from '../../gateway/cli/command.ts'
import { commands } from '../../gateway/cli/command-table.ts'
import { manualPage } from './manual-page.ts'

const hasFormatter = existsSync('/usr/bin/groff')
if (!hasFormatter) process.stderr.write('Format of the manual page not tested: groff is not installed\n')

describe('the manual page', () => {
  const page = manualPage('1.2.3')

  it('has every command with its options and exit codes', () => {
    const sections = page.split(/^\.S[SH] /m)
    for (const { name, options, exitCodes } of commands) {
      const section = sections.find((each) => each.startsWith(`${name.replaceAll('-', '\\-')}\n`))
      const terms = [...Object.keys(options).map(optionName), ...Object.keys(exitCodes)]
      for (const term of terms) expect(section).toContain(`.TP\n\\fB${term.replaceAll('-', '\\-')}\\fR`)
    }
  })

  it('has no text that roff would take for a request', () => {
    const requests = page.match(/^[.'].*/gm) ?? []
    expect(requests.filter((request) => !/^\.(TH|SH|SS|TP|PP)\b/.test(request))).toEqual([])
    expect(page).not.toMatch(/\\(?![fe&-])|`/)
  })

  it.skipIf(!hasFormatter)('is formatted without a warning', () => {
    const { status, stdout, stderr } = spawnSync('groff', ['-man', '-ww', '-Tutf8', '-P-cbou'], {
      input: page,
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('trunkline route-test')
  })
})
