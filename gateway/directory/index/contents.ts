import { type Entry, pathOf } from './entry.ts'

/** What a project has. */
class OfProject {
  /** By id, in the order in which they were made. */
  readonly entries = new Map<string, Entry>()
  readonly byPath = new Map<string, Entry>()
  /** Of subscribers; lower case. */
  readonly byEmail = new Map<string, Entry>()
  /** How many the API made. */
  people = 0
  others = 0
}

/** Every resource, by all that it is looked up by. An entry is exchanged as a whole. */
export class Contents {
  #byId = new Map<string, Entry>()
  #byAddressId = new Map<string, Entry>()
  #byUsername = new Map<string, Entry>()
  #projects = new Map<string, OfProject>()

  get size(): number {
    return this.#byId.size
  }

  byId(id: string): Entry | undefined {
    return this.#byId.get(id)
  }

  byAddressId(id: string): Entry | undefined {
    return this.#byAddressId.get(id)
  }

  byAddress(
    projectId: string,
    address: { readonly context: string; readonly name: string },
  ): Entry | undefined {
    return this.#projects.get(projectId)?.byPath.get(pathOf(address))
  }

  byEmail(projectId: string, email: string): Entry | undefined {
    return this.#projects.get(projectId)?.byEmail.get(email.toLowerCase())
  }

  byUsername(username: string): Entry | undefined {
    return this.#byUsername.get(username)
  }

  /** In the order in which they were made. */
  ofProject(projectId: string): Iterable<Entry> {
    return this.#projects.get(projectId)?.entries.values() ?? []
  }

  /** How many the API made: people, or other resources. */
  made(projectId: string, people: boolean): number {
    return this.#projects.get(projectId)?.[people ? 'people' : 'others'] ?? 0
  }

  put(entry: Entry): void {
    const { resource, subscriber, endpoint } = entry
    const { id, projectId, address } = resource
    this.#forget(id)
    const project = this.#projects.get(projectId) ?? new OfProject()
    this.#projects.set(projectId, project)
    count(project, entry, 1)
    this.#byId.set(id, entry)
    this.#byAddressId.set(address.id, entry)
    project.entries.set(id, entry)
    project.byPath.set(pathOf(address), entry)
    if (subscriber) project.byEmail.set(subscriber.email, entry)
    if (endpoint) this.#byUsername.set(endpoint.username, entry)
  }

  remove(id: string): void {
    const projectId = this.#byId.get(id)?.resource.projectId
    this.#forget(id)
    this.#byId.delete(id)
    if (projectId !== undefined) this.#projects.get(projectId)?.entries.delete(id)
  }

  ids(): Iterable<string> {
    return this.#byId.keys()
  }

  /** The names of an entry lead to it no longer; where they lead to another by now, they stay. */
  #forget(id: string): void {
    const before = this.#byId.get(id)
    const project = before && this.#projects.get(before.resource.projectId)
    if (!project) return
    count(project, before, -1)
    const { address } = before.resource
    drop(this.#byAddressId, address.id, before)
    drop(project.byPath, pathOf(address), before)
    if (before.subscriber) drop(project.byEmail, before.subscriber.email, before)
    if (before.endpoint) drop(this.#byUsername, before.endpoint.username, before)
  }
}

const count = (project: OfProject, { resource: { type, managedByFile } }: Entry, by: 1 | -1): void => {
  if (!managedByFile) project[type === 'subscriber' ? 'people' : 'others'] += by
}

const drop = (map: Map<string, Entry>, key: string, entry: Entry): void => {
  if (map.get(key) === entry) map.delete(key)
}
