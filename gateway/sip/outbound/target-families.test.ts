import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import { familyOfHop } from '../trunks/route.ts'
import { TargetFamilies, type TargetFamiliesDeps } from './target-families.ts'

const records: Readonly<Record<string, readonly string[]>> = {
  'v4.example': ['192.0.2.1'],
  'v6.example': ['2001:db8::1', '2001:db8::2'],
  'both.example': ['2001:db8::1', '192.0.2.1'],
}

describe('the IP families of targets', () => {
  const clock = new FakeClock()
  let asked: string[]
  let answer: TargetFamiliesDeps['find']

  beforeEach(() => {
    asked = []
    answer = async (host) => records[host] ?? []
  })

  const familiesOf = (reachable?: readonly (4 | 6)[]) =>
    new TargetFamilies({
      clock,
      find: (host, located) => {
        asked.push(`${host} ${located}`)
        return answer!(host, located)
      },
      ...(reachable && { reachable }),
    })
  const of = async (families: TargetFamilies, ...uris: string[]) =>
    (await families.complete(uris.map((uri) => ({ uri, headers: {} })))).map(({ family }) => family)

  it('are those of literals and of DNS, and IPv4 if both or no answer exist', async () => {
    const families = familiesOf()
    const literals = [
      'sip:[2001:db8::1]:5070',
      'sip:1@192.0.2.1',
      'sip:x;maddr=192.0.2.1',
      'sip:x;maddr=[::1]',
    ]
    expect(await of(families, ...literals)).toEqual([6, 4, 4, 6])
    expect(asked).toEqual([])
    expect(
      await of(
        families,
        'sip:v4.example',
        'sips:1@v6.example:5061',
        'sip:both.example',
        'sip:none.example',
        '?',
      ),
    ).toEqual([4, 6, 4, 4, 4])
    expect(asked).toEqual(['v4.example true', 'v6.example false', 'both.example true', 'none.example true'])
  })

  it('are those of the next hop and of the carrier’s configuration', async () => {
    const hop = { uri: 'sip:1@v6.example', nextHop: 'sip:192.0.2.9:5080', headers: {} }
    const families = familiesOf()
    expect((await families.complete([hop]))[0]).toEqual({ ...hop, family: 4 })
    expect((await families.complete([hop], 6))[0]?.family).toBe(6)
    expect(familyOfHop(hop)).toBe(4)
    expect(familyOfHop({ uri: 'sip:1@[::1]' })).toBe(6)
    expect(familyOfHop({ uri: 'sip:1@v6.example' })).toBe(4)
  })

  it('exclude addresses that the SIP agent cannot reach', async () => {
    expect(await of(familiesOf([6]), 'sip:both.example', 'sip:v4.example')).toEqual([6, 4])
    expect(await of(familiesOf([4]), 'sip:both.example')).toEqual([4])
  })

  it('are cached for 30 s, with one look-up at a time', async () => {
    const families = familiesOf()
    await Promise.all([of(families, 'sip:v6.example'), of(families, 'sip:V6.example')])
    clock.advance(29_999)
    await of(families, 'sip:v6.example')
    expect(asked).toHaveLength(1)
    clock.advance(1)
    await of(families, 'sip:v6.example')
    expect(asked).toHaveLength(2)
  })

  it('are awaited for at most 2 s, and a failed look-up is no error', async () => {
    answer = () => new Promise(() => {})
    const waiting = of(familiesOf(), 'sip:v6.example')
    await Promise.resolve()
    clock.advance(2_000)
    expect(await waiting).toEqual([4])
    answer = () => Promise.reject(new Error('no DNS'))
    expect(await of(familiesOf(), 'sip:v6.example')).toEqual([4])
    expect(clock.running).toBe(0)
  })
})
