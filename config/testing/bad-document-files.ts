import type { BadFile } from './bad-file.ts'

const script = (steps: string) => `resources:
  - address: /public/menu
    handler:
      kind: script
      document:
        version: 1.0.0
        sections:
          main:
            - ${steps}
`

const xml = (verbs: string) => `resources:
  - address: /public/menu
    handler:
      kind: xml
      document: |
        <Response>
          ${verbs}
        </Response>
`

/** Files with wrong documents. */
export const documentFiles: readonly BadFile[] = [
  {
    mistake: 'a misspelt verb of a script',
    text: script('paly: { url: "say:Hello" }'),
    faults: [
      'trunkline.yaml:9:15 resources[0].handler.document.sections.main[0].paly: There is no method paly. Did you mean `play`? [relay_script_method_undefined]',
    ],
  },
  {
    mistake: 'a misspelt parameter of a verb',
    text: script('play: { ulr: "say:Hello" }'),
    faults: [
      'trunkline.yaml:9:23 resources[0].handler.document.sections.main[0].play.ulr: play has no parameter ulr. Did you mean `url`? [relay_script_method_parameter_undefined]',
    ],
  },
  {
    mistake: 'an XML element that is not closed',
    text: xml('<Say>Hello</Sya>'),
    faults: [
      "trunkline.yaml:7:21 resources[0].handler.document: The XML is malformed: Expected closing tag 'Say' (opened in line 2, col 3) instead of closing tag 'Sya'. [12100]",
    ],
  },
  {
    mistake: 'a misspelt XML verb',
    text: xml('<Puase length="1"/>'),
    faults: [
      'trunkline.yaml:7:11 warning: resources[0].handler.document /Response/Puase[1]: Puase is not supported in Response; it has no effect. Did you mean `Pause`? [12200]',
    ],
  },
  {
    mistake: 'a misspelt XML attribute',
    text: xml('<Pause lenght="1"/>'),
    faults: [
      'trunkline.yaml:7:18 warning: resources[0].handler.document /Response/Pause[1]/@lenght: The attribute lenght is not supported in Pause; it has no effect. Did you mean `length`? [12200]',
    ],
  },
  {
    mistake: 'a faulty document in a file of its own',
    text: 'resources:\n  - address: /public/menu\n    handler: { kind: xml, file: menu.xml }\n',
    files: { 'menu.xml': '<Response>\n  <Redirect>ftp://x</Redirect>\n</Response>' },
    faults: ['menu.xml:2:3 /Response/Redirect[1]: The URL must be an http or https URL. [11100]'],
  },
]
