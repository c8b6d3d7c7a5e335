/** Calls the service with the token of a user or of a program. Throws an error with the answer if the call does not succeed. */
export class Api {
  readonly #baseUrl: string;
  readonly #token: string;

  constructor(baseUrl: string, token: string) {
    this.#baseUrl = baseUrl;
    this.#token = token;
  }

  async get(path: string): Promise<Answer> {
    return await this.#call("GET", path);
  }

  async post(path: string, body?: object): Promise<Answer> {
    return await this.#call("POST", path, body);
  }

  async put(path: string, body: object): Promise<Answer> {
    return await this.#call("PUT", path, body);
  }

  async patch(path: string, body: object): Promise<Answer> {
    return await this.#call("PATCH", path, body);
  }

  async delete(path: string): Promise<Answer> {
    return await this.#call("DELETE", path);
  }

  async #call(method: string, path: string, body?: object): Promise<Answer> {
    const headers = {
      authorization: `Bearer ${this.#token}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    };
    const response = await fetch(this.#baseUrl + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text === "" ? {} : JSON.parse(text);
  }
}

/** The part of an answer that the pictures need: texts such as ids, links and statuses. */
export type Answer = Record<string, string>;
