import { describe, expect, it } from 'vitest'
import { answeredCall } from '../testing/answered-call.ts'
import { testResult } from '../testing/test-result.ts'
import { htmlReport } from './html-report.ts'
import { jsonReport } from './json-report.ts'
import { textReport } from './text-report.ts'

/** Rows without alignment. */
const table = (rows: readonly (readonly string[])[]): readonly string[] => rows.map((row) => row.join(' | '))

const refused = { number: 2, problems: ['The call was refused with 404 Not Found.'] }

describe('the text', () => {
  it('has the scores, the transcript with the functions, and the expectations', () => {
    expect(textReport(testResult({ gapMs: 300, endedBy: 'agent' }), table)).toBe(`Tables & <chairs>: FAILED
1 call to /agents/"table".yaml

Scores
  Response | 2 of 2 (100 %) | turns that were answered
  Gap | p50 400 ms, p95 900 ms, max 900 ms | from the end of a turn to the voice of the agent
  Early | 0 | turns in which the agent began to speak
  Yield | 1 of 1 (100 %) | interruptions that silenced the agent within 2 s
  Fade | p50 150 ms, p95 150 ms, max 150 ms | from the begin of an interruption to 20 dB less
  Silence | p50 150 ms, p95 150 ms, max 150 ms | from the begin of an interruption to silence
  Selectivity | 1 of 1 (100 %) | acknowledgements and coughs after which it went on
  Resume | p50 0 ms, p95 0 ms, max 0 ms | from the end of such a sound to the voice of the agent
  Echo | – | stops of the agent under its own echo
  Not scored | 0 | sounds over the agent at which it did not speak
  Overlap | 0.4 s | both spoke
  No sound | 41 % | share of the time in which neither spoke
  Longest gap | 1.0 s | longest time in which neither spoke
  Level | -20 dBov | median level of the agent

Call 1: 8.0 s, ended by the agent
  1.0 s | caller | A table <for> two.
  2.2 s | function | book {"people":2,"day":"Friday"} → Done.
  2.4 s | agent | It's booked, for 8.
  3.0 s | caller, cough | cough
  5.0 s | caller, interruption | Stop
  6.5 s | agent | (speech)

Expectations
  ok   | every step was performed
  FAIL | gap at most 300 ms
     | Call 1: the answer to the turn at 1.0 s came after 400 ms.
  ok   | ended by the agent
`)
  })

  it('warns of a busy machine, lost packets and a missing report', () => {
    const call = answeredCall({ lateMs: 55, packets: { received: 9, lost: 2 }, hasReport: false })
    const text = textReport(testResult({}, [call]), table)
    expect(text).toContain('2 packets of the agent lost, without a report of the agent')
    expect(text).toContain('This machine was busy: packets of the caller were up to 55 ms late.')
  })

  it('has no call if none was answered, and lists ten failures at most', () => {
    const calls = Array.from({ length: 12 }, (_, index) => ({ ...refused, number: index + 1 }))
    const text = textReport(testResult({}, calls), table)
    expect(text).toContain('12 calls to /agents/"table".yaml, 12 not answered')
    expect(text).toContain('Call 10: The call was refused with 404 Not Found.\n        and 2 more')
    expect(text).not.toContain('Call 1: 0')
  })
})

describe('the JSON', () => {
  it('has every figure of every call', () => {
    const report = JSON.parse(jsonReport(testResult({ gapMs: 300 }, [answeredCall(), refused]))) as object
    expect(report).toMatchObject({
      version: 1,
      scenario: 'Tables & <chairs>',
      target: '/agents/"table".yaml',
      startedAt: '2026-01-02T03:04:05.000Z',
      passed: false,
      expectations: [{ passed: false }, { name: 'gap at most 300 ms', passed: false }],
      scores: { gap: { count: 2, p50: 400, p95: 900, max: 900 }, yield: { good: 1, of: 1 } },
      calls: [
        {
          number: 1,
          answered: true,
          endedBy: 'agent',
          scores: { turns: [{ gapMs: 400 }, { gapMs: 900 }], yields: [{ silenceMs: 150 }] },
          functions: [{ name: 'book', args: { people: 2 } }],
        },
        { number: 2, answered: false, problems: ['The call was refused with 404 Not Found.'] },
      ],
    })
  })
})

describe('the page', () => {
  const html = htmlReport(testResult({ gapMs: 300 }, [answeredCall(), refused]))

  it('refers to no other file, and escapes every text', () => {
    expect(html.replace(/data:audio\/wav;base64,[^"]*/, '')).not.toMatch(/(?:src|href)="[^"]|url\(/)
    expect(html).not.toMatch(/<(?:for|chairs)>/)
    expect(html).toContain('<title>Tables &amp; &lt;chairs&gt; – agent test</title>')
    expect(html).toContain('A table &lt;for&gt; two.')
    expect(html).toContain('/agents/&quot;table&quot;.yaml')
  })

  it('draws the turns, the gaps and the functions, with a text alternative', () => {
    expect(html.match(/<rect class="turn [a-z]+"/g)).toEqual([
      '<rect class="turn turn"',
      '<rect class="turn cough"',
      '<rect class="turn interruption"',
      '<rect class="turn speech"',
      '<rect class="turn speech"',
    ])
    // 64 pixels of names, then 1052 for 8 s: the turn from 1 s to 2 s.
    expect(html).toContain('<rect class="turn turn" x="195.5" y="3" width="131.5"')
    expect(html).toMatch(/class="gap" x1="327" x2="379.6"/)
    expect(html).toMatch(/role="img" aria-labelledby="wave-title"/)
    expect(html).toContain('3 sounds of the caller above, 2 of the agent below')
    expect(html).toMatch(/class="function"><line x1="353\.3"/)
  })

  it('has the sound of both channels, and a table of turns with their scores', () => {
    const [, base64 = ''] = /src="data:audio\/wav;base64,([^"]*)"/.exec(html) ?? []
    expect(Buffer.from(base64, 'base64')).toHaveLength(44 + 4 * 64_000)
    expect(html).toContain('answer after 400 ms')
    expect(html).toContain('silent after 150 ms; 20 dB less after 150 ms')
    expect(html).toContain('data-at="2.40"')
    expect(html).toContain('<li>The call was refused with 404 Not Found.</li>')
  })
})
