import { describe, expect, it } from 'vitest'
import { carrier, carriers, desk, testFolder } from '../testing/config-test-folder.ts'

const { load, placesOf: places } = testFolder()

describe('codecs', () => {
  it('are by default G.711 for carriers and all but L16 for endpoints', () => {
    const given = load(`${carriers(carrier('codecs: [G722, PCMA], ptime: 30'))}\nendpoints: [{ ${desk} }]`)
    expect(given.carriers[0]).toMatchObject({ codecs: ['G722', 'PCMA'], ptime: 30 })
    expect(given.endpoints[0]?.codecs).toEqual(['PCMU', 'PCMA', 'G722', 'opus'])
    expect(load('domains: [{ domain: a }]').domains[0]?.codecs).toBeUndefined()
    expect(load('domains: [{ domain: a, codecs: [opus] }]').domains[0]?.codecs).toEqual(['opus'])
  })

  it.each([
    ['an unknown codec', 'codecs: [PCMU, G729]', 'codecs[1]'],
    ['another spelling', 'codecs: [pcmu]', 'codecs[0]'],
    ['an empty list', 'codecs: []', 'codecs'],
    ['duplicates', 'codecs: [PCMU, G722, PCMU]', 'codecs[2]'],
  ])('may not be %s', (_what, text, where) => {
    expect(places(carriers(carrier(text)))).toEqual([`carriers[0].${where}`])
    expect(places(`endpoints: [{ ${desk}, ${text} }]`)).toEqual([`endpoints[0].${where}`])
    expect(places(`domains: [{ domain: a, ${text} }]`)).toEqual([`domains[0].${where}`])
  })

  it.each([0, 5, 25, 70, '"20ms"'])('do not permit packets of %s ms', (ptime) => {
    expect(places(carriers(carrier(`ptime: ${ptime}`)))).toContain('carriers[0].ptime')
  })
})
