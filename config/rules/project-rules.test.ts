import { describe, expect, it } from 'vitest'
import { testFolder } from '../testing/config-test-folder.ts'

const { load, placesOf, faultsOf } = testFolder()

const withProjects = (...entries: string[]) => `project: Acme.Main\nprojects: [${entries.join(', ')}]`
const person = 'email: ann@x.example, password: secret-one'

describe('projects', () => {
  it('begin with the first project, and have names that are domain labels', () => {
    const text = `${withProjects('{ id: two, name: Second, apiToken: token-of-project-two }', '{ id: three, signingKeys: [key-of-sixteen-letters] }')}
http: { apiToken: token-of-project-one }
webhooks: { signingKeys: [key-of-the-first-one] }`
    expect(load(text).projects).toEqual([
      {
        id: 'Acme.Main',
        name: 'acme-main',
        apiToken: 'token-of-project-one',
        signingKeys: ['key-of-the-first-one'],
      },
      { id: 'two', name: 'second', apiToken: 'token-of-project-two', signingKeys: [] },
      { id: 'three', name: 'three', signingKeys: ['key-of-sixteen-letters'] },
    ])
  })

  it('have unique ids, names and tokens', () => {
    expect(placesOf(withProjects('{ id: two }', '{ id: two, name: other }'))).toEqual(['projects[1]'])
    expect(placesOf(withProjects('{ id: two, name: acme-main }'))).toEqual(['projects[0]'])
    const tokens = `${withProjects('{ id: two, apiToken: the-token-of-both }')}\nhttp: { apiToken: the-token-of-both }`
    const [fault] = faultsOf(tokens)
    expect(fault).toMatchObject({
      path: 'projects[0].apiToken',
      message: 'must differ from the tokens of all other projects',
    })
  })

  it('own entries that name an existing project', () => {
    const text = `${withProjects('{ id: two }')}
subscribers: [{ ${person} }, { ${person}, project: two }]
resources: [{ address: /public/ann, project: two, handler: { kind: realtime, topic: t } }]`
    expect(placesOf(text)).toEqual(['resources[0].address'])
    expect(
      load(`${withProjects('{ id: two }')}\nsubscribers: [{ ${person} }, { ${person}, project: two }]`),
    ).toMatchObject({
      subscribers: [{ name: 'ann' }, { name: 'ann', project: 'two' }],
    })
    expect(placesOf(`subscribers: [{ ${person}, project: none }]`)).toEqual(['subscribers[0].project'])
    expect(placesOf('domains: [{ domain: a.example, project: none }]')).toEqual(['domains[0].project'])
  })

  it('have one default carrier each', () => {
    const carrier = (name: string, project: string) =>
      `{ name: ${name}, project: ${project}, targets: ["sip:${name}.example"], default: true }`
    const carriers = (...all: string[]) =>
      `project: one\nprojects: [{ id: two }]\ncarriers: [${all.join(', ')}]`
    expect(load(carriers(carrier('a', 'one'), carrier('b', 'two'))).carriers).toHaveLength(2)
    expect(placesOf(carriers(carrier('a', 'two'), carrier('b', 'two')))).toEqual(['carriers[1].default'])
  })
})

describe('the store', () => {
  it('may be a PostgreSQL database', () => {
    const url = 'postgres:///trunkline?host=/run/postgresql'
    expect(load(`store: { url: "${url}", startTimeout: 5s }`).store).toEqual({
      url,
      connections: 10,
      startTimeoutMs: 5_000,
    })
    expect(placesOf('store: { url: "mysql://x/y" }')).toEqual(['store.url'])
  })
})
