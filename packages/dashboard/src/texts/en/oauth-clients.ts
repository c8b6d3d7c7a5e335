export const oauthClients = {
  title: "Applications",
  caption: "Browser applications to which members of this organization sign in, the newest first",
  name: "Name",
  clientId: "Client id",
  redirectUris: "Redirect URIs",
  created: "Created",
  create: "Create",
  createTitle: "Create an application",
  createText:
    "A browser application to which members sign in. The API calls it an OAuth client. For each member, the application acts only in this organization, and it cannot manage tokens, members or roles.",
  createAction: "Create",
  nameHint: "Members see this name when the service asks them to allow the application.",
  redirectUrisHint:
    "The addresses to which the browser returns after the sign-in, one on each line, exactly as the application sends them: https://, or http:// on localhost and 127.0.0.1.",
  createdToast: (name: string) => `The application ${name} is created`,
  copyIdOf: (name: string) => `Copy the client id of ${name}`,
  remove: "Delete",
  removeNamed: (name: string) => `Delete the application ${name}`,
  removeTitle: (name: string) => `Delete the application ${name}?`,
  removeText:
    "Everybody who is signed in to it is signed out there, within seconds. Its client id is never used again.",
  removed: (name: string) => `The application ${name} is deleted`,
  emptyTitle: "No application yet",
  empty: "Members can sign in to your own browser application, which then calls the API for them.",
} as const;
