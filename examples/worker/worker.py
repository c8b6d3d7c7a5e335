"""A worker in Python that needs only the standard library. It writes captions, up to four at once."""

import http.client
import json
import os
import signal
import socket
import threading
import time
import urllib.error
import urllib.request

QUEUE = "captions"
CONCURRENCY = 4
POLL_SECONDS = 20
GRACE_SECONDS = 30


class Failure(Exception):
    """Raised by the work of a task to give the failure a type, or to say that a retry cannot help."""

    def __init__(self, message, type=None, retryable=True):
        super().__init__(message)
        self.type = type
        self.retryable = retryable


def write_caption(task):
    """Does the work. `task["idempotencyKey"]` stays the same when the task is given out again."""
    image, thumbnails = task["input"]["image"], task["input"]["thumbnails"]
    if not thumbnails:
        raise Failure(f"{image} has no thumbnails.", type="NoThumbnails", retryable=False)
    return {"caption": f"{image} in {len(thumbnails)} sizes"}


class Service:
    """The operations that a worker needs."""

    def __init__(self, base_url, organization_id, token):
        self.base_url = base_url
        self.path = f"{base_url}/organizations/{organization_id}"
        self.headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}

    def post(self, path, body, timeout=30):
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.path + path, data, self.headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return json.load(answer)
        except (http.client.HTTPException, ValueError) as error:
            raise ConnectionError(f"The answer broke off or is not JSON: {error}") from error

    def poll(self):
        body = {"worker": f"{socket.gethostname()} {os.getpid()}"}
        path = f"/task-queues/{QUEUE}/poll?waitSeconds={POLL_SECONDS}"
        return self.post(path, body, timeout=POLL_SECONDS + 15)["tasks"]

    def answer(self, task, verb, body):
        """Sends an answer until the service has it, even if the service restarts. A conflict means that the worker no longer holds the task."""
        while True:
            try:
                return self.post(f"/tasks/{task['taskId']}/{verb}", body)
            except urllib.error.HTTPError as error:
                if error.code in (404, 409):
                    return None
                if error.code < 500 and error.code != 429:
                    raise
            except OSError:
                pass
            time.sleep(2)


class Heartbeat(threading.Thread):
    """Holds a task for as long as its work takes."""

    def __init__(self, service, task):
        super().__init__(daemon=True)
        self.service, self.task = service, task
        self.done = threading.Event()

    def run(self):
        while not self.done.wait(self.task["heartbeatSeconds"] / 3):
            try:
                self.service.post(f"/tasks/{self.task['taskId']}/heartbeat", {})
            except urllib.error.HTTPError as error:
                if error.code in (404, 409):
                    return
            except OSError:
                pass


def carry_out(service, task):
    heartbeat = Heartbeat(service, task)
    heartbeat.start()
    try:
        output = write_caption(task)
    except Failure as failure:
        fail(service, task, failure, failure.type, failure.retryable)
    except Exception as error:
        fail(service, task, error, type(error).__name__)
    else:
        report(service, task, "complete", {"output": output})
    finally:
        heartbeat.done.set()


def fail(service, task, error, type=None, retryable=True):
    """The service accepts a message of 1 to 10,000 characters, and a type of 1 to 256."""
    body = {"message": str(error)[:10_000] or "The work gave no reason.", "retryable": retryable}
    report(service, task, "fail", {**body, "type": type[:256]} if type else body)


def report(service, task, verb, body):
    try:
        service.answer(task, verb, body)
    except (TypeError, ValueError, urllib.error.HTTPError) as error:
        if getattr(error, "code", 400) not in (400, 413):
            raise
        # The output or the message is not JSON, or too large. Without an answer, the task would be given out again when its lease ends.
        instead = {"message": f"The result cannot be sent: {error}", "retryable": body.get("retryable", False)}
        service.answer(task, "fail", instead)


def work(service, stopping, busy):
    while not stopping.is_set():
        try:
            for task in service.poll():
                if stopping.is_set():
                    service.answer(task, "release", {})
                    continue
                with busy:
                    carry_out(service, task)
        except urllib.error.HTTPError as error:
            if error.code in (400, 401, 403, 404):
                print(f"The service does not accept this worker: {error}", flush=True)
                return stopping.set()
            stopping.wait(2)
        except OSError:
            stopping.wait(2)


def connection():
    """Returns how to reach the service that the environment names, or else the one that `npm start` started in this directory."""
    names = ("STEPWELL_URL", "STEPWELL_ORGANIZATION", "STEPWELL_TOKEN")
    if all(name in os.environ for name in names):
        return [os.environ[name] for name in names]
    with open(os.path.join(os.environ.get("STEPWELL_DATA_DIR", ".stepwell"), "dev.json")) as file:
        known = json.load(file)
    return [known["baseUrl"], known["organizationId"], known["token"]]


def main():
    service = Service(*connection())
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    locks = [threading.Lock() for _ in range(CONCURRENCY)]
    for busy in locks:
        threading.Thread(target=work, args=(service, stopping, busy), daemon=True).start()
    print(f"The worker takes tasks of the queue {QUEUE} at {service.base_url}.", flush=True)
    stopping.wait()
    # Waiting polls are dropped. Tasks under way may end within the grace period; longer ones go to another worker when their leases end.
    deadline = time.monotonic() + GRACE_SECONDS
    for busy in locks:
        busy.acquire(timeout=max(0, deadline - time.monotonic()))


if __name__ == "__main__":
    main()
