import { expect, it } from 'vitest'
import { checkDocument } from './check-document.ts'

it('reports the errors of a document of each kind', () => {
  expect(checkDocument('xml', '<Response><Play/></Response>').errors).toMatchObject([
    { path: '/Response/Play[1]' },
  ])
  expect(checkDocument('flow', '{}').errors).toMatchObject([{ code: 'flow_element_wrong_type' }])
  expect(checkDocument('script', '{}').errors).toMatchObject([{ code: 'relay_script_sections_missing' }])
})

it('reports the warnings of a valid document', () => {
  expect(checkDocument('xml', '<Response><Odd/></Response>')).toMatchObject({
    errors: [],
    warnings: [{ code: '12200' }],
  })
  expect(checkDocument('script', '{"sections":{"main":["hangup"]}}')).toEqual({ errors: [], warnings: [] })
})
