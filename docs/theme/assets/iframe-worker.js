/* Search from a disk: browsers start no worker of a file, so its script runs in a frame that is not shown. */
"use strict";

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      const type = "message";
      this.inner.postMessage = (data) => {
        const event = new MessageEvent(type, { data });
        if (this.onmessage) this.onmessage(event);
        this.dispatchEvent(event);
      };
      this.waiting = [];
      const load = (from, then) => {
        const script = this.inner.document.createElement("script");
        script.src = new URL(from, document.baseURI);
        script.onload = then;
        script.onerror = () => this.dispatchEvent(new ErrorEvent("error", { message: `${from} was not loaded` }));
        this.inner.document.head.append(script);
        return script;
      };
      this.inner.importScripts = (...urls) =>
        Promise.all(urls.map((each) => new Promise((done) => load(each, done))));
      load(url, () => {
        for (const data of this.waiting.splice(0)) this.postMessage(data);
        this.waiting = null;
      });
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.inner.dispatchEvent(new MessageEvent("message", { data }));
    }

    terminate() {
      this.inner.frameElement.remove();
    }
  };
}
