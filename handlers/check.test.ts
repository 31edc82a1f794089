import { expect, it } from 'vitest'
import { checkDocument } from './check.ts'

it('tells the errors of a document of each kind', () => {
  expect(checkDocument('xml', '<Response><Play/></Response>').errors).toMatchObject([
    { path: '/Response/Play[1]' },
  ])
  expect(checkDocument('flow', '{}').errors).toMatchObject([{ code: 'flow_element_wrong_type' }])
  expect(checkDocument('script', '{}').errors).toMatchObject([{ code: 'relay_script_sections_missing' }])
})

it('tells the warnings of a document that may run', () => {
  expect(checkDocument('xml', '<Response><Odd/></Response>')).toMatchObject({
    errors: [],
    warnings: [{ code: '12200' }],
  })
  expect(checkDocument('script', '{"sections":{"main":["hangup"]}}')).toEqual({ errors: [], warnings: [] })
})
